"""What is run inside a rendered page. In a world of its own, where nothing that the page's scripts redefined is met."""

from __future__ import annotations

MEASURE = r"""
((selector) => {
  let chars = 0, nodes = 0, hash = 0, short = "";
  const visit = (root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, {
      acceptNode: (node) => /^(script|style|noscript|template)$/i.test(node.nodeName)
        ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT,
    });
    for (let node = walker.nextNode(); node && nodes < 1000000; node = walker.nextNode()) {
      nodes++;
      if (node.nodeType === 1) { if (node.shadowRoot) visit(node.shadowRoot); continue; }
      const text = node.data.trim();
      chars += text.length;
      if (short.length < 2000) short += text + "\n";
      for (let i = 0; i < text.length; i += 7) hash = (hash * 31 + text.charCodeAt(i)) | 0;
    }
  };
  if (document.body) visit(document.body);
  const isLoading = chars < 2000 && (/(^|\n)\W*(loading|please wait|加载中|正在加载|请稍候|载入中)[\s.…。]*(\n|$)/i.test(short)
    || document.querySelector('[aria-busy="true"]') !== null);
  let isFound = true;
  if (selector) { try { isFound = document.querySelector(selector) !== null; } catch (e) { isFound = null; } }
  return {chars, nodes, hash, isLoading, isFound};
})(SELECTOR)
"""
"""Size and hash of the text, open shadow roots included. SELECTOR is put in as JSON; `isFound` is null for one that cannot be read."""

SERIALISE = r"""
((maxChars) => {
  // A copy in a document without scripts: custom elements in it stay inert, and the page itself is left as it is.
  const copy = document.implementation.createHTMLDocument("");
  const childrenOf = (node) => {
    if (node.shadowRoot) return node.shadowRoot.childNodes;
    if (node.localName === "slot" && node.getRootNode() instanceof ShadowRoot) {
      const assigned = node.assignedNodes();
      return assigned.length ? assigned : node.childNodes;
    }
    return node.childNodes;
  };
  const root = copy.importNode(document.documentElement, false);
  const pending = [[document.documentElement, root]];
  while (pending.length) {
    const [node, target] = pending.pop();
    for (const child of childrenOf(node)) {
      if (child.nodeType === 8 || child.localName === "noscript") continue;
      const isWhole = child.nodeType !== 1 || child.localName === "template";
      const made = copy.importNode(child, isWhole);
      target.appendChild(made);
      if (!isWhole) pending.push([child, made]);
    }
  }
  const html = "<!DOCTYPE html>\n" + root.outerHTML;
  return html.length > maxChars ? {tooLarge: html.length} : {html};
})(MAX_CHARS)
"""
"""The page as HTML: open shadow roots and what is slotted into them in the place where a reader sees them; no comments, no noscript."""
