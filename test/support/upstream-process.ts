// A scripted upstream in a process of its own, for tests that kill the gateway and count what was sent.
// Prints {"port":N} as one line; GET /__count answers {"requests":N,"ids":[markers in order of arrival]}.
import { type ScriptedUpstream, startUpstream } from './upstream.ts'

const upstream: ScriptedUpstream = await startUpstream({
  keepBodies: false,
  onPlainGet: (path) => (path === '/__count' ? count() : undefined),
})
process.stdout.write(`${JSON.stringify({ port: upstream.port })}\n`)

// The standard input is a pipe from the owner. It closes when the owner ends, also when the owner was killed.
process.stdin.on('end', () => process.exit(0)).resume()

function count(): { requests: number; ids: string[] } {
  const ids = upstream.requests.flatMap((request) => request.marker ?? [])
  return { requests: upstream.requests.length, ids }
}
