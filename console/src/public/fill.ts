interface Values {
  gateway: string
  /** That chats. */
  model: string
  imageModel?: string | undefined
  embeddingModel?: string | undefined
}

/** A snippet or a document for one gateway and its models. Without a model it says what to put there. */
export function filled(text: string, { gateway, model, imageModel, embeddingModel }: Values): string {
  return text
    .replaceAll('__GATEWAY__', () => gateway)
    .replaceAll('__MODEL__', () => inQuotes(model))
    .replaceAll('__IMAGE_MODEL__', () => inQuotes(imageModel ?? 'YOUR-IMAGE-MODEL'))
    .replaceAll('__EMBEDDING_MODEL__', () => inQuotes(embeddingModel ?? 'YOUR-EMBEDDING-MODEL'))
}

/** The same of HTML. */
export function filledHtml(html: string, values: Values): string {
  const inHtml = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, escaped(value)]],
  )
  return filled(html, Object.fromEntries(inHtml))
}

/**
 * A model's id is in quotes of several languages. None of them ends early: such signs have no place in an
 * id.
 */
function inQuotes(model: string): string {
  return model.replace(/["'`\\\n\r$]/g, '_')
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign] ?? sign)
}
