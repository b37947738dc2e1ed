import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy in front of Postgres that counts what one kind of its clients does. */
export interface CountingPostgres {
  port: number
  /** Since the last call. */
  take(): PostgresTraffic
  close(): Promise<void>
}

export interface PostgresTraffic {
  /** The tags of the statements that Postgres has completed, such as `COPY 1`, in order. */
  statements: string[]
  /** Bytes that went to Postgres. */
  bytes: number
}

/** `server`: the URL of Postgres. `counted`: how the names of the sessions begin that are counted. They use no TLS. */
export async function startCountingPostgres(server: string, counted: string): Promise<CountingPostgres> {
  const target = new URL(server)
  const sockets = new Set<Socket>()
  let traffic: PostgresTraffic = { statements: [], bytes: 0 }
  const proxy = createServer((client) => {
    const postgres = connect(Number(target.port), target.hostname)
    const read = completedStatements((tag) => traffic.statements.push(tag))
    let isCounted: boolean | undefined
    client.on('data', (bytes) => {
      // The first message of a session has its name.
      isCounted ??= bytes.includes(`\0application_name\0${counted}`)
      if (isCounted) traffic.bytes += bytes.length
      postgres.write(bytes)
    })
    postgres.on('data', (bytes) => {
      if (isCounted === true) read(bytes)
      client.write(bytes)
    })
    for (const [one, other] of [
      [client, postgres],
      [postgres, client],
    ] as const) {
      sockets.add(one)
      one.setNoDelay().on('error', () => {})
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const { port } = proxy.address() as AddressInfo
  return {
    port,
    take() {
      const taken = traffic
      traffic = { statements: [], bytes: 0 }
      return taken
    },
    async close() {
      const closed = new Promise((resolve) => proxy.close(resolve))
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}

const commandComplete = 'C'.charCodeAt(0)

/**
 * Reads what Postgres sends: a message is a letter, its length, and the rest. One `CommandComplete` ends each statement, also
 * where several are in one message. https://www.postgresql.org/docs/18/protocol-message-formats.html
 */
function completedStatements(onTag: (tag: string) => void): (bytes: Buffer) => void {
  let held = Buffer.alloc(0)
  return (bytes) => {
    held = Buffer.concat([held, bytes])
    while (held.length >= 5) {
      const end = 1 + held.readUInt32BE(1)
      if (held.length < end) return
      if (held[0] === commandComplete) onTag(held.toString('latin1', 5, end - 1))
      held = held.subarray(end)
    }
  }
}
