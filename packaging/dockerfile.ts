/** One step of a Dockerfile, such as `{ verb: 'RUN', words: 'npm ci' }`. */
export interface Step {
  verb: string
  words: string
}

/** The stages of a Dockerfile that starts each with FROM. Comments are left out, and a line that ends in a backslash goes on. */
export function stagesOf(text: string): Step[][] {
  const stages: Step[][] = []
  for (const line of text
    .replace(/^#.*\n/gm, '')
    .replaceAll('\\\n', '')
    .split('\n')) {
    const [, verb = '', words = ''] = /^([A-Z]+)\s+(.*)$/.exec(line.trim()) ?? []
    if (verb === 'FROM') stages.push([])
    if (verb !== '') stages.at(-1)?.push({ verb, words })
  }
  return stages
}

/**
 * Whether a .dockerignore leaves a file out: the last line decides that names the file or a folder of it.
 * https://docs.docker.com/build/concepts/context/#dockerignore-files
 */
export function isIgnored(patterns: readonly string[], file: string): boolean {
  const parts = file.split('/')
  const paths = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
  let isOut = false
  for (const line of patterns) {
    const isBack = line.startsWith('!')
    const fits = new RegExp(
      `^${line
        .replace(/^!/, '')
        .replace(/[.+^${}()|[\]\\]/g, '\\$&')
        .replaceAll('*', '[^/]*')}$`,
    )
    if (paths.some((path) => fits.test(path))) isOut = !isBack
  }
  return isOut
}
