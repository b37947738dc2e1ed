import { readFileSync } from 'node:fs'

/**
 * Print what a program of this folder does and ends the process, if --help is among its arguments. The text is the first
 * comment of its file, which names its arguments and options too; test/bench/usage.test.ts holds it to that. `choices`: what
 * the arguments may name.
 */
export function helpIfAsked(file: string, choices: readonly { name: string }[] = []): void {
  if (!process.argv.slice(2).some((argument) => argument === '--help' || argument === '-h')) return
  console.log(usageOf(readFileSync(file, 'utf8')))
  if (choices.length > 0) console.log(`\nChoose from: ${choices.map(({ name }) => name).join(', ')}.`)
  process.exit(0)
}

/** The first comment of a source text: lines with two slashes, or a block. Empty if there is none. */
export function usageOf(source: string): string {
  const [comment = ''] = /^\/\/.*(?:\n\/\/.*)*|^\/\*\*[\s\S]*?\*\//m.exec(source) ?? []
  return comment
    .split('\n')
    .map((line) => line.replace(/^(?:\/\/|\/\*\*| \*\/| \*)[ ]?/, '').replace(/ ?\*\/$/, ''))
    .join('\n')
    .trim()
}
