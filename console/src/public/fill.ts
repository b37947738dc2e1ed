interface Values {
  gateway: string
  model: string
}

/** A snippet for one gateway and one model. */
export function filled(text: string, { gateway, model }: Values): string {
  return text.replaceAll('__GATEWAY__', () => gateway).replaceAll('__MODEL__', () => inQuotes(model))
}

/** The same of a snippet's HTML. */
export function filledHtml(html: string, { gateway, model }: Values): string {
  return filled(html, { gateway: escaped(gateway), model: escaped(model) })
}

const documented = 'http://127.0.0.1:8787'

/**
 * The HTML of a document with this gateway's address in place of that of a first start. Tutorials and pages
 * of clients are for those who call it; the other documents speak of the machine that it runs on, and keep
 * theirs.
 */
export function addressed(html: string, path: string, gateway: string): string {
  return /^(tutorials|clients)\//.test(path) ? html.replaceAll(documented, () => escaped(gateway)) : html
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
