import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A scripted upstream in a process that the test does not kill. It answers by `planByModel`. */
export interface CountingUpstream {
  /** Base URL as a channel takes it, with `/v1`. */
  url: string
  port: number
  pid: number
  /** Requests that reached it so far, whole or not, and their markers in order of arrival, repeats included. */
  count(): Promise<{ requests: number; ids: string[] }>
  stop(): Promise<void>
}

export async function startCountingUpstream(): Promise<CountingUpstream> {
  const file = fileURLToPath(new URL('./upstream-process.ts', import.meta.url))
  const child = spawn(process.execPath, [file], { stdio: ['pipe', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data')
  const { port } = JSON.parse(String(line)) as { port: number }
  return {
    url: `http://127.0.0.1:${port}/v1`,
    port,
    pid: child.pid ?? 0,
    async count() {
      const answer = await fetch(`http://127.0.0.1:${port}/__count`)
      return (await answer.json()) as { requests: number; ids: string[] }
    },
    async stop() {
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      await exited
    },
  }
}
