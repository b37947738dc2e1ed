import { type Client, type Connection, Query } from 'pg'

/** The part of pg's connection that its type definitions omit. */
interface CopyConnection extends Connection {
  sendCopyFromChunk(bytes: Buffer): void
  endCopyFrom(): void
}

/** A longer input is sent in pieces, because pg copies each of them once more. */
const pieceBytes = 256 * 1024

/** Several statements in one message. The COPYs among them receive their inputs in order. */
class CopyQuery extends Query {
  /** How long pg waits for the query to end. */
  query_timeout: number | undefined
  readonly #inputs: Buffer[]
  readonly #onTrip: () => void

  constructor(
    text: string,
    inputs: readonly Buffer[],
    onTrip: () => void,
    onEnd: (error: Error | null | undefined) => void,
  ) {
    super(text, onEnd)
    this.#inputs = [...inputs]
    this.#onTrip = onTrip
  }

  /** Called by pg when Postgres has reached the next COPY. */
  handleCopyInResponse(connection: CopyConnection): void {
    this.#onTrip()
    const input = this.#inputs.shift() ?? Buffer.alloc(0)
    for (let at = 0; at < input.length; at += pieceBytes) {
      connection.sendCopyFromChunk(input.subarray(at, at + pieceBytes))
    }
    connection.endCopyFrom()
  }
}

/**
 * Runs statements in one message, which takes one round trip, plus one for each COPY. `inputs` are the inputs
 * of the COPYs, in order. An error ends all statements; after BEGIN, the connection then expects a ROLLBACK.
 * https://www.postgresql.org/docs/18/protocol-flow.html#PROTOCOL-FLOW-MULTI-STATEMENT
 */
export function runWithCopies(
  client: Client,
  statements: readonly string[],
  inputs: readonly Buffer[],
): Promise<void> {
  const answerMs = answerMsOf(client)
  return new Promise((resolve, reject) => {
    let late: NodeJS.Timeout | undefined
    const expectAnswer = () => {
      clearTimeout(late)
      if (answerMs > 0) late = setTimeout(() => reject(new Error('Query read timeout')), answerMs)
    }
    const query = new CopyQuery(statements.join('; '), inputs, expectAnswer, (error) => {
      clearTimeout(late)
      if (error) reject(error)
      else resolve()
    })
    // The limit applies to each round trip; pg's own limit applies to all of them together.
    query.query_timeout = answerMs * (1 + inputs.length)
    expectAnswer()
    client.query(query)
  })
}

/**
 * The time limit that pg applies to each query of this connection; 0 if there is none. Its type definitions
 * omit the member.
 */
function answerMsOf(client: Client): number {
  const parameters: unknown = 'connectionParameters' in client ? client.connectionParameters : undefined
  if (typeof parameters !== 'object' || parameters === null || !('query_timeout' in parameters)) return 0
  return Number(parameters.query_timeout) || 0
}
