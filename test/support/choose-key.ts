import type { Page } from 'playwright-core'

/** Choose the key that pays, such as `free / abort`, in the playground. */
export async function chooseKey(page: Page, label: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Key' }).fill(label)
  await page.getByRole('option', { name: label, exact: true }).click()
}
