/**
 * Passwords of at least twelve characters at the top of published lists of stolen passwords. Shorter ones are refused
 * for their length. The list is small on purpose: it stops the passwords that attackers try on every account, without a
 * call to a service.
 */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `
  !qaz2wsx3edc 012345678901 0123456789012 0123456789abc 0123456789abcdef 098765432109 123456789012 1234567890123
  12345678901234 123456789012345 1234567890123456 1234567890abc 1234567890qw 1234567890qwe 1234567890qwerty 123456789123
  1234567891234 12345678912345 123456789123456 123456789123456789 123456789abc 123456789abcd 123456789qwe
  123456789qwerty 1q2w3e4r5t6y 1q2w3e4r5t6y7u 1q2w3e4r5t6y7u8i 1q2w3e4r5t6y7u8i9o0p 1qaz2wsx3edc 1qaz2wsx3edc4rfv
  1qazxsw23edc 987654321012 9876543210987 a1b2c3d4e5f6 a1b2c3d4e5f6g7 aa1234567890 abc123456789 abcd12345678
  abcd123456789 abcdef123456 abcdefg12345 abcdefghijkl abcdefghijklm abcdefghijklmn abcdefghijklmnop
  abcdefghijklmnopqrstuvwxyz accountant123 admin1234567 admin12345678 admin123456789 adminadmin12 adminadmin123
  administration administrator administrator1 administrator123 adminpassword adminpassword1 asdf12345678 asdfasdfasdf
  asdfghjkl123 asdfghjkl1234 asdfghjkl12345 asdfghjklzxcvbnm asdfqwerzxcv bankaccount1 banking12345 bankpassword
  baseball1234 basketball12 basketball123 bismillah123 businessbabe california12 california123 catherine123 changeme1234
  changeme12345 charlotte123 chocolate123 chocolate1234 christian123 christopher1 christopher12 christopher123
  computer1234 computer12345 consumer1234 cooldude1234 correcthorsebatterystaple customer1234 customerservice
  dragon123456 dragonball123 elephant1234 elizabeth123 everything12 facebook1234 facebook12345 finance12345 football1234
  football12345 footballfootball forever12345 friendship12 fuckyou12345 fuckyoufuckyou google123456 greenday1234
  hello1234567 hello12345678 hello123456789 hellohello12 hellokitty12 hellokitty123 helloworld12 helloworld123
  ilovejesus12 iloveyou1234 iloveyou12345 iloveyou123456 iloveyou2024 iloveyou2025 iloveyouforever iloveyousomuch
  internet1234 invoice12345 jennifer1234 jessica12345 justinbieber justinbieber1 kingkong1234 letmein12345 letmein123456
  letmeinletmein letmeinplease liverpool123 liverpoolfc1 login1234567 lovelovelove manchester12 manchester123
  manchesterunited master123456 masterpassword metallica123 michael12345 michelle1234 microsoft123 minecraft123
  minecraft1234 moneymoney12 moneymoneymoney monkey123456 monkeymonkey motherfucker motherfucker1 mynameis1234
  mypassword12 mypassword123 mypassword1234 nopassword12 nopassword123 operator1234 p@$$w0rd1234 p@ssw0rd123!
  p@ssw0rd1234 p@ssw0rd12345 p@ssword123! p@ssword1234 pa$$w0rd1234 pa55word1234 passw0rd123! passw0rd1234 passw0rd12345
  password!123 password123! password1234 password1234! password12345 password123456 password1234567 password12345678
  password123456789 password1234567890 password1password1 password2020 password2021 password2022 password2023
  password2024 password2025 password2026 password@123 password@1234 passwordpassword passwordpassword1 passwort1234
  passwort12345 passwortpasswort payments1234 pokemon12345 pokemon123456 princess1234 princess12345 q1w2e3r4t5y6
  q1w2e3r4t5y6u7 q1w2e3r4t5y6u7i8 qazwsx123456 qazwsxedc123 qazwsxedcrfv qwaszx123456 qwer12345678 qwerasdfzxcv
  qwert1234567 qwerty123456 qwerty1234567 qwerty12345678 qwerty123456789 qwerty1234567890 qwertyqwerty qwertyuiop12
  qwertyuiop123 qwertyuiop1234 qwertyuiop123456 qwertyuiop[] qwertyuiop[]asdf qwertyuiopas qwertyuiopasdf
  qwertyuiopasdfgh qwertyuiopasdfghjkl qwertyuiopasdfghjklzxcvbnm qwertzuiop12 qwertzuiop123 qwertzuiopasdf root12345678
  rootroot1234 samsung12345 sandbox12345 scoobydoo123 secret123456 secretpassword security1234 september123 service12345
  shadow123456 slipknot1234 snowball1234 soccer123456 spiderman123 spiderman1234 starwars1234 starwars12345 summer123456
  summer202024 summer2024!! summer2025!! sunshine1234 sunshine12345 superman1234 superman12345 superpassword
  superstar123 support12345 sweetheart12 temp12345678 temporary123 temppassword test12345678 test123456789 testing12345
  testpassword testpassword1 testtest1234 testtesttest thepassword1 thisismypassword treasury1234 trustno11234
  trustno1trustno1 unbelievable universal123 user12345678 username1234 valentina123 victoria1234 welcome1234!
  welcome12345 welcome123456 welcome2024! welcome2025! welcome2026! welcomewelcome whatever1234 whatever12345
  whateverwhatever william12345 windows12345 winter202024 winter2024!! winter2025!! wordpass1234 yourpassword
  yourpassword1 zaq12wsxcde3 zaq1zaq1zaq1 zxcvbnm,./12 zxcvbnm12345 zxcvbnm123456 zxcvbnm123456789 zxcvbnmasdfghjkl
  zzzzzzzzzzzz
`
    .trim()
    .split(/\s+/),
)
