import { crc32 } from 'node:zlib'
import { gatewayError } from '../../src/canonical/error.ts'
import type { Framing } from '../../src/upstream/framings.ts'

export const amazonType = 'application/vnd.amazon.eventstream'
/** Two lengths and their checksum; after headers and payload, the checksum of the frame. */
const preludeBytes = 12
const headerBytes = Buffer.from('\x0b:event-type\x07\x00\x05chunk', 'latin1')

/** A frame as Bedrock sends it. */
export function amazonFrame(payload: string): Buffer {
  const body = Buffer.concat([headerBytes, Buffer.from(payload)])
  const frame = Buffer.alloc(preludeBytes + body.length + 4)
  frame.writeUInt32BE(frame.length, 0)
  frame.writeUInt32BE(headerBytes.length, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  body.copy(frame, preludeBytes)
  frame.writeUInt32BE(crc32(frame.subarray(0, -4)), frame.length - 4)
  return frame
}

/** Makes an event of each frame's payload. */
export const amazonFraming: Framing = (frameBytesMax) => {
  let held = Buffer.alloc(0)
  return {
    push(chunk) {
      held = Buffer.concat([held, chunk])
      let events = ''
      while (held.length >= preludeBytes) {
        const length = held.readUInt32BE(0)
        if (length > frameBytesMax)
          throw gatewayError('upstream_event_too_large', { bytesMax: frameBytesMax })
        if (held.length < length) break
        const frame = held.subarray(0, length)
        if (frame.readUInt32BE(length - 4) !== crc32(frame.subarray(0, -4)))
          throw gatewayError('upstream_answer_unreadable', { what: 'a frame whose checksum is wrong' })
        events += `data: ${frame.toString('utf8', preludeBytes + frame.readUInt32BE(4), length - 4)}\n\n`
        held = held.subarray(length)
      }
      return Buffer.from(events)
    },
    end() {
      if (held.length > 0) throw gatewayError('upstream_ended_early')
    },
  }
}
