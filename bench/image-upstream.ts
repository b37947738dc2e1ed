// The upstream of the image bench, in a process of its own: openai-images, one picture of 100 KB as base64, the same each
// time and made beforehand. The model's name has the delay in ms, such as `draw-200`.
import { serveBodies } from './serve-bodies.ts'

const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
/** Bytes that cannot be compressed, and are the same in every run. */
const noise = Buffer.alloc(100_000)
for (let at = 0, seed = 1; at < noise.length; at += 4) {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0
  noise.writeUInt32LE(seed, at)
}
const answer = Buffer.from(
  JSON.stringify({
    created: 1_767_225_600,
    data: [{ b64_json: Buffer.concat([signature, noise]).toString('base64') }],
    usage: { input_tokens: 60, output_tokens: 1056, total_tokens: 1116 },
    size: '1024x1024',
    quality: 'high',
    output_format: 'png',
  }),
)

serveBodies((body, response) => {
  const delayMs = Number(/"model":"draw-(\d+)"/.exec(body.toString('latin1'))?.[1])
  const send = () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
    response.end(answer)
  }
  if (delayMs > 0) setTimeout(send, delayMs)
  else send()
})
