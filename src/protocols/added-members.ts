import type { OptionalParameter } from '../canonical/traits.ts'
import type { ProtocolName } from './protocol.ts'
import type { Edit } from './splice.ts'

/**
 * A member that the gateway adds by itself to the bytes of a client, and takes back where an upstream refuses
 * it.
 */
export interface AddedMember {
  protocol: ProtocolName
  member: string
  /** The parameter of the trait that says that it is refused. */
  takes: OptionalParameter
  /**
   * Requests that have it of us: streams whose client wants no usage, or those that make an answer in the
   * background.
   */
  in: 'stream' | 'background'
  /**
   * It counts as refused in whatever words, where these are in them: without it the upstream has the client's
   * own bytes.
   */
  words?: RegExp
}

/** All of them. `stream` of an answer in the background must stay: its client may read the events. */
export const allAddedMembers: readonly AddedMember[] = [
  {
    ...{ protocol: 'openai-chat', member: 'stream_options', takes: 'streamOptions', in: 'stream' },
    words: /\bstream_options\b/,
  },
  {
    ...{ protocol: 'openai-responses', member: 'include', takes: 'include', in: 'background' },
    words: /['"`]include(?:\[\d+\])?['"`]|^include\[\d+\]/,
  },
  { protocol: 'openai-responses', member: 'store', takes: 'store', in: 'background' },
]

/** Later requests send the reasoning of an answer again, so it is asked for in this form. */
export const encryptedReasoning = 'reasoning.encrypted_content'

/**
 * The members of a request that makes an answer in the background: they come right after its model.
 * `include`: the client's.
 */
export function backgroundMembers(include: readonly string[]): string {
  const wanted = [...new Set([...include, encryptedReasoning])]
  return `${alwaysAdded}${storeAdded}${includeAdded}${JSON.stringify(wanted)}`
}

const alwaysAdded = ',"stream":true'
const storeAdded = ',"store":false'
const includeAdded = ',"include":'
const lastInclude = Buffer.from(`${JSON.stringify(encryptedReasoning)}]`)

/** The edits that take these members back. `afterModel`: where the model ends, in bytes. */
export function takingBack(raw: Buffer, afterModel: number, members: ReadonlySet<string>): Edit[] {
  const store = afterModel + alwaysAdded.length
  const include = store + storeAdded.length
  const text = `${alwaysAdded}${storeAdded}${includeAdded}[`
  if (raw.toString('latin1', afterModel, afterModel + text.length) !== text) return []
  const edits: Edit[] = []
  if (members.has('store')) edits.push({ start: store, end: include, bytes: nothing })
  const added = members.has('include') ? raw.indexOf(lastInclude, include) : -1
  const isAlone = added === afterModel + text.length
  // Other values are the client's, and stay.
  if (isAlone) edits.push({ start: include, end: added + lastInclude.length, bytes: nothing })
  else if (added !== -1) edits.push({ start: added - 1, end: added + lastInclude.length - 1, bytes: nothing })
  return edits
}

const nothing = Buffer.alloc(0)
