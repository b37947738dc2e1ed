/** A fenced block of a Markdown document. */
export interface Block {
  /** The word after the fence, such as `sh`; empty without one. */
  language: string
  text: string
  /** The line number of its first line of text. */
  line: number
  /** Why no test runs it: from a comment before it, `<!-- not run: REASON -->`, which readers do not see. */
  notRun: string | undefined
}

export function blocksIn(markdown: string): Block[] {
  const lines = markdown.split('\n')
  const blocks: Block[] = []
  let notRun: string | undefined
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    const fence = /^```(\w*)/.exec(line)
    if (fence === null) {
      if (line.trim() !== '') notRun = /^<!-- not run: (.+) -->$/.exec(line)?.[1]
      continue
    }
    const end = lines.indexOf('```', at + 1)
    if (end === -1) throw new Error(`line ${at + 1}: the block has no end`)
    blocks.push({
      language: fence[1] ?? '',
      text: lines.slice(at + 1, end).join('\n'),
      line: at + 2,
      notRun,
    })
    notRun = undefined
    at = end
  }
  return blocks
}

/** Compares a document with what a command printed. In the document `...` stands for any text. Space is ignored. */
export function matches(shown: string, printed: string): boolean {
  const parts = shown.split('...').map((part) => part.replace(/\s+/g, ''))
  const pattern = parts.map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('[^]*?')
  return new RegExp(`^${pattern}$`).test(printed.replace(/\s+/g, ''))
}
