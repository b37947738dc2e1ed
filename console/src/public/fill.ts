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

/** A model's id stands in quotes of several languages. None of them ends early: such signs have no place in an id. */
function inQuotes(model: string): string {
  return model.replace(/["'`\\\n\r$]/g, '_')
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;' })[sign] ?? sign)
}
