import type { Locator, Page } from 'playwright-core';

export const messagesOf = (page: Page): Locator => page.getByRole('region', { name: 'Messages in #shop-oncall' });
export const threadOf = (page: Page): Locator => page.getByRole('complementary', { name: 'Thread' });
export const clusterOf = (page: Page): Locator => page.getByRole('complementary', { name: 'Cluster' });

export async function become(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /Switch person/ }).click();
  await page.getByRole('menuitemradio', { name: new RegExp(`^${name}\\b`) }).click();
  await page.getByRole('button', { name: `You are ${name}` }).waitFor();
}

export async function type(page: Page, words: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Message #shop-oncall' }).fill(words);
  await page.keyboard.press('Enter');
}

export async function choose(page: Page, menu: string, item: string): Promise<void> {
  await page.getByRole('button', { name: menu }).click();
  await page.getByRole('menuitem', { name: new RegExp(`^${item.replace(/[()]/g, '\\$&')}`) }).click();
}
