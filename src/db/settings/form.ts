import type { FieldOfForm, SettingTable } from './setting.ts'

/** What a `choice` between yes and no offers if its group has the setting too. */
export const asGroup = { '': 'As its group', yes: 'Yes', no: 'No' }

/** Settings that appear together under a heading. */
interface SectionOfForm {
  title: string
  about?: string
}

/** Returns the sections of a form with their fields, each with its path in the API: `limits.concurrency`. */
export function formOf(settings: SettingTable, sections: readonly SectionOfForm[]) {
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
      .map(({ section: _, isLast: __, ...field }) => field),
  }))
}

function isField(form: object): form is FieldOfForm {
  return 'kind' in form
}
