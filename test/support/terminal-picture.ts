/** Colours of a terminal, by the codes that a program writes. */
const classes: Readonly<Record<string, string>> = { 1: 'bold', 31: 'bad', 32: 'good', 33: 'warn', 90: 'dim' }

const cell = { width: 7.25, height: 17 }
const margin = 16

/** An SVG of what a program wrote to a terminal. Every word has its place, so that columns are below each other in any font. */
export function terminalPicture(text: string, columns: number, label: string): string {
  const lines = text.trimEnd().split('\n')
  const width = Math.ceil(columns * cell.width) + 2 * margin
  const height = lines.length * cell.height + 2 * margin
  const rows = lines
    .map((line, at) => rowOf(line, margin + (at + 0.75) * cell.height))
    .filter((row) => row !== '')
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="12" role="img" aria-label="${escaped(label)}">
  <style>
    rect { fill: #f6f8fa; stroke: #d1d9e0 }
    text { fill: #1f2328; white-space: pre }
    .bold { font-weight: 600 }
    .good { fill: #1a7f37 }
    .warn { fill: #9a6700 }
    .bad { fill: #cf222e }
    .dim { fill: #59636e }
    @media (prefers-color-scheme: dark) {
      rect { fill: #0d1117; stroke: #3d444d }
      text { fill: #f0f6fc }
      .good { fill: #3fb950 }
      .warn { fill: #d29922 }
      .bad { fill: #f85149 }
      .dim { fill: #9198a1 }
    }
  </style>
  <rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>
${rows.join('\n')}
</svg>
`
}

function rowOf(line: string, y: number): string {
  let column = 0
  let style = ''
  const spans: string[] = []
  // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal's codes begin with one
  for (const [piece, code] of line.matchAll(/\u001b\[(\d+)m|[^\u001b]+/g)) {
    if (code !== undefined) {
      style = classes[code] ?? ''
      continue
    }
    for (const run of piece.matchAll(/\S+(?: \S+)*/g)) {
      const x = (margin + (column + run.index) * cell.width).toFixed(2)
      const name = style === '' ? '' : ` class="${style}"`
      spans.push(`<text x="${x}" y="${y.toFixed(2)}"${name}>${escaped(run[0])}</text>`)
    }
    column += [...piece].length
  }
  return spans.length === 0 ? '' : `  ${spans.join('')}`
}

function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
