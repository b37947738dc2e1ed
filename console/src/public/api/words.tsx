/** A sentence of the OpenAPI document, whose names are between backticks. */
export function Words({ text }: { text: string }) {
  let at = 0
  return text.split('`').map((piece, index) => {
    const key = at
    at += piece.length + 1
    return index % 2 === 1 ? <code key={key}>{piece}</code> : <span key={key}>{piece}</span>
  })
}
