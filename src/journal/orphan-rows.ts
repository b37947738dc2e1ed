import type { OpenRequest } from './batch.ts'
import { CopyBuffer } from './copy-buffer.ts'
import { idInOpenHalf, writeBareOpenFrame, writeCloseFrame } from './frame.ts'
import { type Layout, ownLayout, writeNamed } from './layout.ts'
import { orphan, unknownOpen } from './orphan.ts'
import { closeColumns } from './row.ts'
import type { Aside } from './set-aside.ts'
import { TupleWriter, uuidText } from './tuple.ts'

/** The COPY that contains the rows of requests whose process died. */
export function orphanRows(
  orphans: readonly Pick<OpenRequest, 'source' | 'halfAt' | 'halfEnd'>[],
  { open, close }: Layout,
): CopyBuffer {
  const end = new TupleWriter(1024)
  writeNamed(end, close, closeColumns, orphan)
  const rows = new CopyBuffer('requests', [...open, ...close])
  for (const { source, halfAt, halfEnd } of orphans) {
    rows.out.begin(open.length + close.length)
    rows.out.copy(source, halfAt, halfEnd)
    rows.out.copy(end.buffer, 0, end.length)
  }
  return rows
}

/** Such a request as journal frames: its open frame and an end. */
export function orphanFrames(half: Buffer, layout: Layout): Pick<Aside, 'bytes' | 'request' | 'layout'> {
  const request = uuidText(half.subarray(idInOpenHalf, idInOpenHalf + 16))
  const out = new TupleWriter(1024)
  writeBareOpenFrame(out, half)
  writeCloseFrame(out, unknownOpen(request, null), orphan)
  return { bytes: out.written, request, layout: { ...layout, close: ownLayout.close } }
}
