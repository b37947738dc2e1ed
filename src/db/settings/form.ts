import type { FieldOfForm, FormOfSetting } from './setting.ts'

/** What a `choice` between yes and no offers if its group has the setting too. */
export const asGroup = { '': 'As its group', yes: 'Yes', no: 'No' }

/**
 * Returns the sections of a form in this order, with their fields, each with its path in the API:
 * `limits.concurrency`.
 */
export function formOf(
  settings: Readonly<Record<string, { form?: FormOfSetting }>>,
  sections: readonly { title: string; about?: string }[],
) {
  const fields = Object.entries(settings).flatMap(([name, { form }]) => {
    if (form === undefined) return []
    if (isField(form)) return [{ path: name, ...form }]
    return Object.entries(form).map(([member, field]) => ({ path: `${name}.${member}`, ...field }))
  })
  const ordered = fields.toSorted((a, b) => Number(a.isLast ?? false) - Number(b.isLast ?? false))
  return sections.map((one) => ({
    ...one,
    fields: ordered
      .filter(({ section }) => section === one.title)
      .map(({ section: _, isLast: __, options, ...field }) => ({
        ...field,
        ...(options !== undefined && {
          options: Object.entries(options).map(([value, label]) => ({ value, label })),
        }),
      })),
  }))
}

/** A member of a map may be called `kind` too. */
function isField(form: FormOfSetting): form is FieldOfForm {
  return typeof form.kind === 'string'
}
