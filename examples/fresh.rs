use slm_code_interpreter::*; use slm_code_interpreter::sandbox::on_python_thread; use std::time::*;
fn main(){ let config=Config::resolve(Overrides::default()).unwrap(); let p=Python::open(&config,&Progress::default(),&Cancel::new()).unwrap();
let n:usize=std::env::args().nth(1).unwrap().parse().unwrap(); let code=std::env::args().nth(2).unwrap();
on_python_thread(||{ let mut v:Vec<[Duration;3]>=vec![]; let c=Cancel::new();
 for _ in 0..n { let t=Instant::now(); let mut s=p.session(SessionOptions::new(Limits::default())).unwrap(); let a=t.elapsed(); let t=Instant::now(); s.exec(&code,&c).unwrap(); let b=t.elapsed(); let t=Instant::now(); drop(s); v.push([a,b,t.elapsed()]); }
 for k in 0..3 { let mut x:Vec<_>=v.iter().map(|r|r[k]).collect(); x.sort(); println!("{} median {:?} min {:?}",["new","exec","drop"][k],x[x.len()/2],x[0]); } }).unwrap(); }
