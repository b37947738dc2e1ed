import { Page } from '../../parts/page.tsx'

export function AlertsPage() {
  return <Page title="Alerts">{null}</Page>
}
