function r(o){let t=new WeakMap;return e=>{let{parentElement:n}=e;t.has(n)||t.set(n,new o(n));let s=t.get(n);return s.show(e),()=>{n.isConnected||!s.end||(s.end(),t.delete(n))}}}var c=`:host {
  display: flex;
  gap: 0.5rem;
  align-items: center;
}
button {
  font: inherit;
  font-size: 0.875rem;
  white-space: nowrap;
  padding: 0.25rem 0.6rem;
  min-height: 2.5rem;
  cursor: pointer;
  color: var(--st-text-color);
  background: var(--st-background-color);
  border: 1px solid var(--st-border-color);
  border-radius: var(--st-base-radius, 4px);
}
button:is(:hover, :focus-visible) {
  color: var(--st-primary-color);
  border-color: var(--st-primary-color);
}
button {
  min-width: 5.4rem;
}
.small {
  min-height: 1.6rem;
  padding: 0 0.5rem;
}
.hidden {
  position: absolute;
  clip-path: inset(50%);
}
span {
  font-size: 0.85rem;
  user-select: all;
}
`;var l=2e3,i="Copied",a=class{constructor(t){let e=document.createElement("style");e.textContent=c,this.button=document.createElement("button"),this.button.type="button",this.button.addEventListener("click",()=>this.copy()),this.said=document.createElement("span"),this.said.setAttribute("role","status"),this.said.className="said",t.append(e,this.button,this.said)}show(t){let e=this.component?.data;this.component=t,this.button.textContent=t.data.label,this.button.classList.toggle("small",t.data.small),this.button.title=t.data.help;let n=t.data.link;this.waiting&&n&&n!==e?.link&&this.copy()}async copy(){let{link:t}=this.component.data;if(this.waiting=!t,!t){this.component.setTriggerValue("wanted",!0);return}let e=new URL(t,document.baseURI).href;this.say(await u(e)?i:e)}say(t){let e=t===i;this.said.textContent=t,this.said.classList.toggle("hidden",e),e&&(this.button.textContent=i,clearTimeout(this.timer),this.timer=setTimeout(()=>this.button.textContent=this.component.data.label,l))}},f=r(a);async function u(o){try{return await navigator.clipboard.writeText(o),!0}catch{let t=document.createElement("textarea");t.value=o,document.body.append(t),t.select();let e=document.execCommand("copy");return t.remove(),e}}export{f as default};
