import { kindAt } from '../../protocols/json-scan.ts'
import type { RequestFacts } from '../../protocols/protocol.ts'
import { splice } from '../../protocols/splice.ts'

/**
 * Returns the body with one short turn in place of its conversation, which is what makes a large body large.
 * The other members are the client's own.
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
/** Valid in every client format. */
const oneTurn = Buffer.from('[{"role":"user","content":"."}]')
