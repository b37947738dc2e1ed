import type { OptionalParameter } from '../canonical/traits.ts'
import type { ProtocolName } from './protocol.ts'
import type { Edit } from './splice.ts'

/** A member that the gateway adds to a client's bytes and removes again if an upstream refuses it. */
export interface AddedMember {
  protocol: ProtocolName
  member: string
  /** The parameter of the trait which records that the member is refused. */
  takes: OptionalParameter
  /**
   * The requests to which it is added: streams whose client does not request usage, or requests for
   * background answers.
   */
  in: 'stream' | 'background'
  /**
   * Any error message that matches this pattern counts as a refusal of the member. Without the member, the
   * upstream receives exactly the client's bytes.
   */
  words?: RegExp
}

/**
 * All added members. `stream` is not listed, because it must stay in background requests: the client may read
 * the events.
 */
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

/** Later requests send the reasoning of an answer back, so it is requested in this form. */
export const encryptedReasoning = 'reasoning.encrypted_content'

/**
 * The members added to a request for a background answer, inserted directly after its model. `include`: the
 * client's values.
 */
export function backgroundMembers(include: readonly string[]): string {
  const wanted = [...new Set([...include, encryptedReasoning])]
  return `${alwaysAdded}${storeAdded}${includeAdded}${JSON.stringify(wanted)}`
}

const alwaysAdded = ',"stream":true'
const storeAdded = ',"store":false'
const includeAdded = ',"include":'
const lastInclude = Buffer.from(`${JSON.stringify(encryptedReasoning)}]`)

/** The edits that remove these members again. `afterModel`: the byte offset of the end of the model. */
export function takingBack(raw: Buffer, afterModel: number, members: ReadonlySet<string>): Edit[] {
  const store = afterModel + alwaysAdded.length
  const include = store + storeAdded.length
  const text = `${alwaysAdded}${storeAdded}${includeAdded}[`
  if (raw.toString('latin1', afterModel, afterModel + text.length) !== text) return []
  const edits: Edit[] = []
  if (members.has('store')) edits.push({ start: store, end: include, bytes: nothing })
  const added = members.has('include') ? raw.indexOf(lastInclude, include) : -1
  const isAlone = added === afterModel + text.length
  // Other values belong to the client and are kept.
  if (isAlone) edits.push({ start: include, end: added + lastInclude.length, bytes: nothing })
  else if (added !== -1) edits.push({ start: added - 1, end: added + lastInclude.length - 1, bytes: nothing })
  return edits
}

const nothing = Buffer.alloc(0)
