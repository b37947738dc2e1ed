import { Page } from '../../parts/page.tsx'

export function ChannelsPage() {
  return <Page title="Channels">{null}</Page>
}
