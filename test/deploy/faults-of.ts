import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toolsPath } from '../support/machine.ts'

/** A value, and the type that it must have, by its name and the package of test/deploy/tools that has it. */
export interface Typed {
  type: string
  from: string
  value: unknown
}

/** What TypeScript says about values: members that are missing, unknown, or of another type. Empty: nothing. */
export function faultsOf(typed: readonly Typed[]): string {
  const folder = mkdtempSync(join(toolsPath, 'rendered-'))
  try {
    const lines = typed.flatMap(({ type, from, value }, index) => [
      `import type { ${type} as Type${index} } from '${from}'`,
      `export const value${index}: Type${index} = ${JSON.stringify(value)}`,
    ])
    writeFileSync(join(folder, 'values.ts'), lines.join('\n'))
    const compilerOptions = {
      strict: true,
      noEmit: true,
      skipLibCheck: true,
      module: 'esnext',
      moduleResolution: 'bundler',
      types: [],
    }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['values.ts'] }))
    return spawnSync('tsc', ['-p', folder], { encoding: 'utf8' }).stdout
  } finally {
    rmSync(folder, { recursive: true })
  }
}
