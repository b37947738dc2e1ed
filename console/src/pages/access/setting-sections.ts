import { forms } from 'virtual:settings'
import type { Field } from '../../parts/fields.ts'
import type { FieldGroup } from '../../parts/settings-form.tsx'

/**
 * The sections of the form of a resource. `first`: what its first section begins with. `names`: what its
 * fields suggest.
 */
export function sectionsOf(
  resource: keyof typeof forms,
  first: readonly Field[],
  names: { models?: readonly string[]; channels?: readonly string[] } = {},
): FieldGroup[] {
  return forms[resource].sections.map(({ fields, ...section }, index) => ({
    ...section,
    fields: [
      ...(index === 0 ? first : []),
      ...fields.map(({ suggests, ...field }) => ({
        ...field,
        ...(suggests !== undefined && { suggestions: names[suggests] ?? [] }),
      })),
    ],
  }))
}
