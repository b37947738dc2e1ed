// A scripted upstream in a process of its own, for tests that kill the gateway and count what was sent.
// Prints {"port":N} as one line; GET /__count answers {"requests":N,"ids":[markers in order of arrival]}.
import { type ScriptedUpstream, startUpstream } from './upstream.ts'

const upstream: ScriptedUpstream = await startUpstream({
  keepBodies: false,
  onPlainGet: (path) => (path === '/__count' ? count() : undefined),
})
process.stdout.write(`${JSON.stringify({ port: upstream.port })}\n`)

// Ends with its owner, also when the owner was killed: the pipe that must be our standard input closes then.
process.stdin.on('end', () => process.exit(0)).resume()

function count(): { requests: number; ids: string[] } {
  const ids = upstream.requests.flatMap((request) => request.marker ?? [])
  return { requests: upstream.requests.length, ids }
}
