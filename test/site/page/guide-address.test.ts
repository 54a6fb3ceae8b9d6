import { doesNotMatch, match } from 'node:assert/strict';
import { renderGuide } from '../../../src/site/page/docs-page.tsx';

describe('a guide on the site', () => {
  for (const baseUrl of ['http://localhost:8080/shelf', 'https://bots.example.org/shelf'])
    it(`has the address ${baseUrl} in the place of those of the document, once @slow`, async () => {
      for (const path of ['/docs/consumers', '/docs/javascript'] as const) {
        const html = String((await renderGuide(path, baseUrl)).html);
        match(html, /\/shelf\/(?:docs|clients)/);
        doesNotMatch(html, /shelf\/shelf|localhost:8080(?!\/shelf)|bots\.example\.org(?!\/shelf)/);
      }
    });
});
