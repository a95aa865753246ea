function i(l){let r=new WeakMap;return t=>{let{parentElement:e}=t;r.has(e)||r.set(e,new l(e));let o=r.get(e);return o.show(t),()=>{e.isConnected||!o.end||(o.end(),r.delete(e))}}}var c=`[role="toolbar"] {
  padding: 3px; /* room for the outline of the selected cell */
  display: flex;
  flex-wrap: wrap;
  gap: 0.25rem 0.9rem;
  font-size: 0.75rem;
}
[role="toolbar"] > span {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 2px;
}
.name {
  margin-right: 0.3rem;
}
button {
  box-sizing: border-box;
  width: 24px;
  height: 24px;
  padding: 0;
  font: inherit;
  line-height: 1;
  cursor: pointer;
  color: var(--st-text-color);
  background: var(--st-background-color);
  border: 1px solid var(--st-gray-color);
  border-radius: 3px;
}
button[aria-pressed="true"] {
  outline: 2px solid var(--st-primary-color);
  outline-offset: 1px;
}
.right {
  background: var(--st-green-background-color);
}
.wrong {
  background: var(--st-red-background-color);
}
.matched {
  background: var(--st-blue-background-color);
}
.unmatched {
  background: var(--st-orange-background-color);
}
`;var u={right:"✓",wrong:"✕",matched:"=",unmatched:"–"},b={ArrowRight:1,ArrowDown:1,ArrowLeft:-1,ArrowUp:-1},a=class{constructor(r){let t=document.createElement("style");t.textContent=c,this.bar=document.createElement("div"),this.bar.setAttribute("role","toolbar"),this.bar.addEventListener("keydown",e=>this.step(e)),this.cells=new Map,r.append(t,this.bar)}show(r){this.component=r;let{label:t,groups:e}=r.data;this.bar.setAttribute("aria-label",t);let o=JSON.stringify(e.map(n=>[n.name,n.cells.map(s=>s.id)]));o!==this.ids&&this.build(e),this.ids=o;for(let n of e.flatMap(s=>s.cells)){let s=this.cells.get(n.id);s.className=n.state,s.textContent=u[n.state]??"",s.title=n.title,s.setAttribute("aria-label",n.title),s.setAttribute("aria-pressed",n.selected),s.tabIndex=n.selected?0:-1}}build(r){this.cells.clear(),this.bar.replaceChildren(...r.map(t=>{let e=document.createElement("span"),o=document.createElement("span");return o.textContent=t.name,o.className="name",e.append(o,...t.cells.map(n=>this.button(n.id))),e}))}button(r){let t=document.createElement("button");return t.type="button",t.addEventListener("click",()=>this.component.setTriggerValue("chosen",r)),this.cells.set(r,t),t}step(r){let t=[...this.cells.values()],e=t.indexOf(this.bar.getRootNode().activeElement),o=t[e+b[r.key]];e<0||!o||(r.preventDefault(),o.focus())}},f=i(a);export{f as default};
