import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'

/** What llmprobe found in one run, as far as the tests look at it. */
export type ProbeReport = z.infer<typeof probeReport>

const assertion = z.object({
  id: z.string(),
  severity: z.enum(['MUST', 'SHOULD', 'MAY']),
  message: z.string().optional(),
})

const probeReport = z.object({
  run: z.object({ mode: z.string(), phases: z.object({ conformance: z.object({ status: z.string() }) }) }),
  conformance: z.object({
    passed: z.number(),
    total: z.number(),
    results: z.array(
      z.object({
        id: z.string(),
        outcome: z.enum(['pass', 'fail', 'unsupported', 'inconclusive', 'skipped', 'unreachable']),
        reason: z.string().optional(),
        failures: z.array(assertion).optional(),
      }),
    ),
  }),
})

/**
 * Runs llmprobe, the conformance suite of others, without its benchmark and its slow tests.
 * Its home is a new directory, so it keeps no library. It exits with 1 when a MUST failed, and the report says which.
 */
export async function runLlmprobe(target: {
  baseUrl: string
  apiKey: string
  model: string
}): Promise<ProbeReport> {
  const home = mkdtempSync(join(tmpdir(), 'tollgate-llmprobe-'))
  try {
    const program = fileURLToPath(import.meta.resolve('llmprobe/bin/dist/llmprobe.mjs'))
    const options = ['--no-bench', '--no-save', '--no-color', '--json', '--timeout', '30']
    const args = [program, target.baseUrl, '-k', target.apiKey, '-m', target.model, ...options]
    const child = spawn(process.execPath, args, {
      env: { PATH: process.env.PATH ?? '', HOME: home },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const output = { stdout: '', stderr: '' }
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output.stderr += text
    })
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', resolve)
    })
    if (code !== 0 && code !== 1) throw new Error(`llmprobe ended with ${code}: ${output.stderr}`)
    return probeReport.parse(JSON.parse(output.stdout))
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
}
