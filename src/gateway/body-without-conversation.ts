import { kindAt } from '../protocols/json-scan.ts'
import type { RequestFacts } from '../protocols/protocol.ts'
import { splice } from '../protocols/splice.ts'

/**
 * A body with one short turn in place of its conversation, which is what is large in a large body. Its other
 * members are the client's own.
 */
export function bodyWithoutConversation(
  body: Buffer,
  { conversation }: Pick<RequestFacts, 'conversation'>,
): Buffer {
  if (conversation === undefined) return body
  const turn = kindAt(body, conversation.start) === 'string' ? oneText : oneTurn
  return splice(body, [{ ...conversation, bytes: turn }], Buffer.allocUnsafe)
}

const oneText = Buffer.from('"."')
/** Valid in each format that clients speak. */
const oneTurn = Buffer.from('[{"role":"user","content":"."}]')
