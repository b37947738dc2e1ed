import { readEvents } from 'tollgate-verify/server-events.ts'
import { expect, test } from 'vitest'

test.each(['\n', '\r\n', '\r'])('events are read whatever ends their lines: %j', (end) => {
  const lines = ['\uFEFF: hello', '', 'event: start', 'id: 1', 'data: {', 'data:}', '', 'data', '', '']
  expect(readEvents(lines.join(end))).toEqual({
    events: [
      { event: 'start', data: '{\n}' },
      { event: '', data: '' },
    ],
    isCut: false,
  })
})

test('a stream whose last blank line is missing is cut', () => {
  expect(readEvents('data: 1\n\ndata: 2\n')).toMatchObject({ isCut: true })
  expect(readEvents('')).toEqual({ events: [], isCut: false })
})
