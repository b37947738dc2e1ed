import { type Names, noNames } from '../bodies/names.ts'
import { counted } from '../canonical/counted.ts'
import { invalid } from '../canonical/field-error.ts'
import type { Headers } from '../canonical/headers.ts'
import { name, tagList } from '../journal/column.ts'
import type { OpenRecord } from '../journal/record.ts'
import { redactText } from '../redaction/redact.ts'
import { sessionNameOf } from '../routing/session.ts'

/** The end user, the session and the tags that the client set for a request. */
export type Labels = Pick<OpenRecord, 'endUser' | 'session' | 'tags'>

const tagsHeader = 'x-tollgate-tags'

/**
 * Returns the labels of a request, without secrets. `named` are the names in its body; `exact` are exact
 * values of secrets. Never throws: tags that `checkTags` refuses are left out.
 */
export function labelsOf(headers: Headers, named: Names = noNames, exact: readonly string[] = []): Labels {
  const session = sessionNameOf(headers, named.session)
  const tags = new Set(headerTags(headers).tags)
  for (const tag of named.tags) if (tags.size < tagList.countMax) tags.add(tag)
  return {
    endUser: endUserText(named.endUser, exact),
    session: session === undefined ? null : redactText(session, exact, name.max),
    tags: tags.size === 0 ? null : [...tags].map((tag) => redactText(tag, exact, tagList.max)).sort(),
  }
}

/** Returns the name of an end user as it appears in a row. */
export function endUserText(named: string | undefined, exact: readonly string[] = []): string | null {
  return named === undefined ? null : redactText(named, exact, name.max)
}

/**
 * Throws a GatewayError `invalid_request` that names the header, when there are too many tags or one is too
 * long.
 */
export function checkTags(headers: Headers): void {
  const { problem } = headerTags(headers)
  if (problem === undefined) return
  throw invalid(tagsHeader, problem)
}

const noTags: { tags: readonly string[]; problem?: string } = { tags: [] }

function headerTags(headers: Headers): { tags: readonly string[]; problem?: string } {
  const header = headers[tagsHeader]
  if (header === undefined) return noTags
  const { countMax, max } = tagList
  const tags = utf8(String(header))
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
  const count = new Set(tags).size
  if (count > countMax)
    return { tags: [], problem: `expected at most ${counted(countMax, 'tag')}, got ${count}` }
  const long = tags.find((tag) => tag.length > max)
  if (long === undefined) return { tags }
  return {
    tags: [],
    problem: `expected tags of at most ${counted(max, 'character')}, got one of ${long.length}`,
  }
}

/** Decodes the header as UTF-8 if its bytes are valid UTF-8. Node reads all headers as Latin1. */
function utf8(header: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: this is about bytes.
  if (/^[\x00-\x7f]*$/.test(header)) return header
  const text = Buffer.from(header, 'latin1').toString('utf8')
  return text.includes('\ufffd') ? header : text
}
