import { mustBe } from '../db/settings/values.ts'
import { readAwsKey } from './aws-credentials.ts'
import type { ConnectionEntry } from './channel-connection.ts'
import type { Entry, EntryReader } from './entry-reader.ts'
import { whyUnreadable } from './named-file.ts'

const prefix = 'file:'

/** Whether a credential refers to a file that contains it: `file:/run/secrets/vendor`. */
export const namesFile = (credential: string): boolean => credential.startsWith(prefix)

/**
 * Returns the credentials of a channel, reading those stored in files. Reports invalid files, but never their
 * contents.
 */
export function readCredentials(
  reader: EntryReader,
  { entry, path }: Entry<{ credentials: string[] }>,
  readFile: (path: string) => string,
): string[] {
  return entry.credentials.map((credential, index) => {
    if (!namesFile(credential)) return credential
    const name = credential.slice(prefix.length)
    const report = (problem: string) =>
      reader.report([...path, 'api_keys', index], `the file ${name} ${problem}`)
    try {
      // Editors and `echo` end a file with a line break, which is not part of the credential.
      const text = readFile(name).replace(/[\r\n]+$/, '')
      if (text === '') report('is empty')
      else if (!isCredential.test(text)) report(mustBe('one line of at most 8192 visible ASCII characters'))
      return text
    } catch (error) {
      report(whyUnreadable(error))
      return ''
    }
  })
}

const isCredential = /^[\x21-\x7e]{1,8192}$/

/**
 * Reports credentials that cannot sign, without their contents. An empty one is the identity of the machine.
 */
export function checkAwsKeys(
  reader: EntryReader,
  { entry, path }: Entry<{ credentials: readonly string[]; connection?: Pick<ConnectionEntry, 'auth'> }>,
): void {
  if (entry.connection?.auth?.kind !== 'sigv4') return
  for (const [index, credential] of entry.credentials.entries()) {
    if (credential === '' || readAwsKey(credential) !== undefined) continue
    const form = 'ACCESS_KEY_ID:SECRET_ACCESS_KEY, or ACCESS_KEY_ID:SECRET_ACCESS_KEY:SESSION_TOKEN'
    reader.report([...path, 'api_keys', index], mustBe(`${form}; or empty, for the identity of the machine`))
  }
}
