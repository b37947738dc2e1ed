import type { Page } from 'playwright-core'
import { until } from './until.ts'

/** Choose the key that pays in the playground, such as `free / free`. While keys come, the list is made anew under the pointer. */
export async function chooseKey(page: Page, label: string): Promise<void> {
  const box = page.getByRole('combobox', { name: 'Key' })
  const option = page.getByRole('option', { name: label, exact: true })
  await until(async () => {
    // The list opens when the text changes, so the same text again would not open it.
    await box.fill('')
    await box.fill(label)
    const isChosen = await option.click({ timeout: 2_000 }).then(
      () => true,
      () => false,
    )
    return isChosen && (await box.inputValue()) === label
  })
}
