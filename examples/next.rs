use slm_code_interpreter::*; use slm_code_interpreter::sandbox::on_python_thread; use std::time::*;
fn main(){ let config=Config::resolve(Overrides::default()).unwrap(); let p=Python::open(&config,&Progress::default(),&Cancel::new()).unwrap();
let n:usize=std::env::args().nth(1).unwrap().parse().unwrap(); let first=std::env::args().nth(2).unwrap(); let code=std::env::args().nth(3).unwrap();
on_python_thread(||{ let mut v:Vec<Duration>=vec![]; let c=Cancel::new(); let mut s=p.session(SessionOptions::new(Limits::default())).unwrap();
 let o=s.exec(&first,&c).unwrap(); println!("{:?} {}{}",o.status,o.stdout,o.stderr); if let Some(e)=o.error {println!("{}",e.traceback)}
 for _ in 0..n { let t=Instant::now(); let o=s.exec(&code,&c).unwrap(); v.push(t.elapsed()); if o.status!=Status::Ok {println!("{:?} {:?}",o.status,o.error)} }
 v.sort(); if n>0 {println!("next median {:?} min {:?}",v[v.len()/2],v[0]);} }).unwrap(); }
