import { filterNames } from '../usage/log/filters.ts'
import { wrongUsage } from './exit-codes.ts'
import { optional } from './options.ts'

/** The argument that filters the rows. */
export const filters = {
  ...optional('FILTER', 'NAME=VALUE, such as status=5xx tenant=acme not_model=gpt-main total_ms=5000..', {
    completes: filterNames.map((name) => `${name}=`),
  }),
  repeats: true,
  read: (texts: readonly string[]) => texts.map(pairOf),
}

/** `status=5xx` becomes ['status', '5xx']. Throws if there is no filter of that name. */
function pairOf(text: string): readonly [string, string] {
  const at = text.indexOf('=')
  if (at < 1) throw new Error(`must be NAME=VALUE, not ${JSON.stringify(text)}`)
  const name = text.slice(0, at)
  if (!filterNames.some((known) => known === name.replace(/^not_/, '')))
    throw wrongUsage(
      `unknown filter ${JSON.stringify(name)}. The filters are ${filterNames.join(', ')}; each can be negated with the prefix not_.`,
    )
  return [name, text.slice(at + 1)]
}

export function queryOf(pairs: readonly (readonly [string, string])[]): URLSearchParams {
  const query = new URLSearchParams()
  for (const [name, text] of pairs) query.append(name, text)
  return query
}
