import { CopyBuffer } from './copy-buffer.ts'
import { requestColumns } from './row.ts'
import { copyHeader, endOfColumn } from './tuple.ts'

const required: ReadonlySet<string> = new Set(['endpoint', 'outcome', 'usage_source'])
const texts: ReadonlySet<string> = new Set(
  requestColumns
    .filter(({ kind }) => kind === 'text' || kind === 'texts' || kind === 'array')
    .map(({ name }) => name),
)
const standInText = '(set aside)'
const shortBytes = 64

/**
 * The row for a request whose own row Postgres rejects: its ids, numbers and cost, without texts, which are
 * the part that Postgres can reject. The request thus has its single row and its money is correct, while its
 * frame is set aside.
 * `requests` is a COPY with that row and these columns.
 */
export function standInOf(requests: CopyBuffer, columns: readonly string[]): CopyBuffer {
  const standIn = new CopyBuffer('requests', columns)
  if (requests.isEmpty) return standIn
  const row = requests.out.buffer
  const { out } = standIn
  out.begin(columns.length)
  let at = copyHeader.length + 2
  for (const column of columns) {
    const end = endOfColumn(row, at)
    if (column === 'attempt_count') out.int2(0)
    else if (!texts.has(column)) out.copy(row, at, end)
    else if (!required.has(column)) out.null()
    else if (isPlain(row.subarray(at + 4, end))) out.copy(row, at, end)
    else out.text(standInText, standInText.length)
    at = end
  }
  return standIn
}

function isPlain(bytes: Buffer): boolean {
  return bytes.length > 0 && bytes.length <= shortBytes && bytes.every((byte) => byte >= 0x20 && byte < 0x7f)
}
