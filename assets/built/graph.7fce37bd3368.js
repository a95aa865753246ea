function o(n){}export{o as default};
