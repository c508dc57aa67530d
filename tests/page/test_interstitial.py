# ruff: noqa: E501  # a page a line, as it comes
"""Pages that stand in front of a page, as the usual products write them, and honest pages that speak of the same things."""

import pytest

from kbcite.page.interstitial import recognise
from kbcite.page.links import read_links

URL = "https://example.com/a"
CONTINUED = (
    "<p>The team says that the change took effect on Tuesday and that nobody has to do anything. Readers asked how long it will stay. "
    "There is no end date yet, the head of operations wrote, and the figures are looked at once a month. In the first week the number "
    "of complaints fell by a third. Two other services made the same step last year and kept it.</p>"
)
LONG = CONTINUED * 3


def kind_of(html: str) -> str | None:
    found = recognise(html, read_links(html, URL).refresh)
    return found.kind if found else None


def page(body: str, title: str = "", head: str = "") -> str:
    return f"<!doctype html><html><head><title>{title}</title>{head}</head><body>{body}</body></html>"


WALLS = {
    "cloudflare, managed challenge": (
        page(
            '<div class="main-wrapper"><noscript>Enable JavaScript and cookies to continue</noscript></div>'
            "<script>window._cf_chl_opt={cvId:'3',cType:'managed'};var a=document.createElement('script');"
            "a.src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1?ray=x'</script>",
            "Just a moment...",
            '<meta http-equiv="refresh" content="390">',
        ),
        "bot_challenge",
    ),
    "cloudflare, in Chinese": (page("<h1>example.com</h1><p>正在验证您是否是真人。这可能需要几秒钟时间。</p><p>example.com 需要先检查您的连接的安全性，然后才能继续。</p>", "请稍候…"), "bot_challenge"),
    "cloudflare, blocked": (page("<h1>Sorry, you have been blocked</h1><h2>You are unable to access example.com</h2><p>Why have I been blocked? This website is using a security service to protect itself from online attacks. Cloudflare Ray ID: 8a1b</p>", "Attention Required! | Cloudflare"), "bot_challenge"),
    "cloudflare, 1020": (page("<h1>Error 1020</h1><p>Access denied</p><p>Ray ID: 8a1b • 2026-11-30 12:00:00 UTC</p>", "Access denied | example.com used Cloudflare to restrict access"), "bot_challenge"),
    "akamai": (page('<H1>Access Denied</H1>You don\'t have permission to access "http://example.com/a" on this server.<P>Reference #18.2d351ab8.1557333295.a4e16ab</P>', "Access Denied"), "bot_challenge"),
    "imperva": (page('<iframe id="main-iframe" src="/_Incapsula_Resource?SWUDNSAI=31&xinfo=1" frameborder=0>Request unsuccessful. Incapsula incident ID: 1234</iframe>'), "bot_challenge"),
    "imperva, pardon": (page("<h1>Pardon Our Interruption</h1><p>As you were browsing something about your browser made us think you were a bot.</p>"), "bot_challenge"),
    "perimeterx": (page('<div id="px-captcha"></div><p>Press &amp; Hold to confirm you are a human (and not a bot).</p>', "Access to this page has been denied"), "bot_challenge"),
    "datadome": (page("<p id=\"cmsg\">Please enable JS and disable any ad blocker</p><script data-cfasync=\"false\">var dd={'rt':'c','cid':'A','host':'geo.captcha-delivery.com'}</script>", "example.com"), "bot_challenge"),
    "aws waf": (page('<script src="https://x.token.awswaf.com/challenge.js"></script><script>AwsWafIntegration.checkForceRefresh()</script><div id="challenge-container"></div><noscript><h1>JavaScript is disabled</h1>In order to continue, we need to verify that you\'re not a robot.</noscript>', "Human Verification"), "bot_challenge"),
    "ddos-guard": (page('<div id="ddg-l10n-title">Checking your browser before accessing example.com</div><p>DDoS protection by DDoS-Guard</p>', "DDoS-Guard"), "bot_challenge"),
    "sucuri": (page("<h1>You are being redirected...</h1><noscript>Javascript is required.</noscript><script>var s={},u,c,U,r,i,l=0,a,e=eval,w=String.fromCharCode,sucuri_cloudproxy_js='';S='cz0i'</script>"), "bot_challenge"),
    "anubis": (page('<h1 id="title">Making sure you\'re not a bot!</h1><p>Loading...</p><p>Protected by Anubis from Techaro.</p><script id="anubis_challenge" type="application/json">{"rules":{}}</script>', "Making sure you're not a bot!"), "bot_challenge"),
    "google, sorry": (page("<p>Our systems have detected unusual traffic from your computer network. This page checks to see if it's really you sending the requests, and not a robot.</p>", "https://www.google.com/search"), "bot_challenge"),
    "amazon": (page("<h4>Enter the characters you see below</h4><p>Sorry, we just need to make sure you're not a robot. For best results, please make sure your browser is accepting cookies.</p>", "Robot Check"), "bot_challenge"),
    "hcaptcha": (page('<form><div class="h-captcha" data-sitekey="x"></div><button>Submit</button></form><p>One more step</p>'), "bot_challenge"),
    "turnstile": (page('<div class="cf-turnstile" data-sitekey="0x4A"></div><p>One more step before you proceed</p>'), "bot_challenge"),
    "vercel": (page("<p>We're verifying your browser</p><noscript>Enable JavaScript to continue</noscript><p>Vercel Security Checkpoint | fra1::1764</p>", "Vercel Security Checkpoint"), "bot_challenge"),
    "aliyun waf": (page("<script>var arg1='A1B2';var _0x='acw_sc__v2'</script>"), "bot_challenge"),
    "aliyun slider": (page('<div id="nocaptcha"></div><p>亲，请拖动下方滑块完成验证</p><script src="//g.alicdn.com/sd/ncpc/nc.js"></script>', "验证码拦截"), "bot_challenge"),
    "tencent captcha": (page('<script src="https://turing.captcha.qcloud.com/TCaptcha.js"></script><p>请完成安全验证</p>'), "bot_challenge"),
    "jsl": (page("<script>document.cookie=('_')+('_')+('j')+('sl_clearance')+'=1';location.href=location.pathname+location.search</script>"), "script_redirect"),
    "baidu": (page('<div class="timeout hide"><p>网络不给力，请稍后重试</p><a>返回首页</a></div><p>问题反馈</p>', "百度安全验证"), "bot_challenge"),
    "wechat": (page("<h2>环境异常</h2><p>当前环境异常，完成验证后即可继续访问。</p><a>去验证</a>", "环境异常"), "bot_challenge"),
    "zhihu": (page("<p>系统监测到您的网络环境存在异常，为保证您的正常访问，请点击下方验证按钮进行验证。在您验证完成前，该提示将多次出现</p><button>开始验证</button>", "安全验证 - 知乎"), "bot_challenge"),
    "too many requests": (page("<p>您的访问过于频繁，请稍后再试</p>"), "bot_challenge"),
    "cookie wall": (page("<h1>Cookies required</h1><p>Please enable cookies in your browser to continue to this site.</p>"), "cookie_wall"),
    "consent wall": (page("<h1>We value your privacy</h1><p>We and our 842 partners store and access information on your device, such as cookies, and process personal data for ads and content.</p><button>Accept all</button><button>Reject all</button><button>Manage options</button>", "Your privacy"), "consent_wall"),
    "google consent": (page("<h1>Before you continue to Google</h1><p>We use cookies and data to deliver and maintain Google services, track outages and protect against spam, fraud and abuse.</p><form><button>Reject all</button></form><form><button>Accept all</button></form>", "Before you continue"), "consent_wall"),
    "zustimmung": (page("<h1>Mit Werbung weiterlesen</h1><p>Besuchen Sie uns wie gewohnt mit Werbung und Tracking. Details finden Sie in der Datenschutzerklärung.</p><button>Akzeptieren</button><p>We use cookies. Accept all cookies to read on, or subscribe.</p><button>Accept all cookies</button>", "Zustimmung"), "consent_wall"),
    "login, a form alone": (page('<h1>Sign in</h1><form action="/session"><label>Username</label><input name="user"><label>Password</label><input type="password" name="pw"><button>Sign in</button></form><a href="/reset">Forgot password?</a>', "Sign in · Example"), "login_wall"),
    "login, to go on": (page('<h1>You must log in to continue</h1><form><input name="email"><input type="password" name="pass"><button>Log In</button></form><p>Create new account</p>', "Log into Example"), "login_wall"),
    "login, single sign-on": (page('<h1>Welcome</h1><p>Please sign in to continue.</p><a href="/saml/login">Sign in with SSO</a><form><input type="email"><input type=password></form>', "Example Corp – Sign In"), "login_wall"),
    "login, in Chinese": (page('<h2>用户登录</h2><form><input placeholder="账号"><input type="password" placeholder="密码"><button>登录</button></form><a>忘记密码？</a><a>立即注册</a>', "登录"), "login_wall"),
    "login, 请先登录": (page("<p>您需要登录后才可以查看该页面</p><form><input type='password'></form>", "提示信息"), "login_wall"),
    "refresh": (page("<p>Moved.</p>", head='<meta http-equiv="refresh" content="0;url=/next">'), "meta_refresh"),
    "continue": (page("<p>即将离开本站，您将要访问的链接为 https://example.org</p><a>继续访问</a>"), "continue_page"),
    "script": (page('<script>window.location.replace("/real")</script>'), "script_redirect"),
}  # fmt: skip

HONEST = {
    "an article about Cloudflare's challenge": page("<h1>How the “Just a moment” page works</h1><p>Cloudflare shows “Checking your browser before accessing” while it runs a script. Verify you are human, it says.</p>" + LONG, "Just a moment: inside Cloudflare's challenge page"),
    "an article about captchas": page("<h1>A history of CAPTCHA</h1><p>Are you a robot? The question has been asked since 2000; reCAPTCHA asks for a click.</p>" + LONG),
    "an article with turnstile at its comment form": page(f"<h1>News</h1>{LONG}<form><div class='cf-turnstile'></div><textarea></textarea></form>"),
    "a short article with turnstile at its comment form": page(f"<h1>Update</h1>{CONTINUED}<h2>Comments</h2><form><div class='cf-turnstile' data-sitekey='x'></div></form>"),
    "a short article with recaptcha at its newsletter": page(f"<h1>Update</h1>{CONTINUED}<form><div class='g-recaptcha' data-sitekey='x'></div><button>Subscribe</button></form>"),
    "a contact page with recaptcha": page("<h1>Contact</h1><p>Example Ltd, 12 Mill Lane, Eastbrook EB1 2CD. Telephone 01632 960001, weekdays from nine to five. Write to us with the form below and we answer within two working days. Directions: take bus 4 to Market Square and walk up Mill Lane for three minutes.</p><form><input name='name'><textarea></textarea><div class='g-recaptcha' data-sitekey='x'></div></form>"),
    "a page behind Cloudflare's beacon": page(f"<h1>Update</h1>{CONTINUED}<script>(function(){{var d=document.createElement('script');d.src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'}})()</script>"),
    "a cookie policy": page("<h1>Cookie policy</h1><p>You can enable cookies in your browser's settings. We use cookies to keep you signed in. Accept all cookies or reject all of them in the banner.</p>" + LONG),
    "a short cookie policy": page("<h1>Cookies</h1><p>This site sets two cookies. The first, <code>lang</code>, keeps the language that you chose and lasts a year. The second, <code>session</code>, is set when you sign in and is deleted when you close the browser. Neither is shared with anyone else. There is no tracking and there are no advertising cookies on this site.</p>"),
    "a privacy notice that values your privacy": page("<h1>Privacy notice</h1><p>We value your privacy. We keep the name and the address that you give us for two years, and the invoices for ten, as the law demands. You may ask at any time what is kept about you, have it corrected, or have it deleted where no law forbids that. Write to privacy@example.com.</p>"),
    "an article with a consent banner": page(f"<h1>Bridge closed</h1>{CONTINUED}<div class='banner'><p>We value your privacy. We and our 842 partners store information on your device.</p><button>Accept all</button><button>Reject all</button></div>"),
    "an article with a login form in its head": page(f"<form><input name='user'><input type='password'><button>Sign in</button></form><h1>Bridge closed</h1>{CONTINUED}"),
    "how to log in": page("<h1>How to sign in</h1><p>Open the portal and choose Sign in. Enter the staff number printed on your card as the user name and the password from the letter. After three wrong passwords the account is locked for fifteen minutes. If you forgot your password, call the help desk on extension 4200 and have your card at hand.</p>"),
    "如何登录": page("<h1>如何登录系统</h1><p>打开门户首页，点击右上角的登录按钮，输入工号和初始密码。首次登录后请修改密码，密码至少八位，须包含字母和数字。连续输错三次，账号将锁定十五分钟。忘记密码请拨打服务台电话4200，并准备好工作证。</p>"),
    "登录 form beside an article": page("<form><input type='password' placeholder='密码'><button>登录</button></form><h1>停水通知</h1><p>因更换主管道，河东区将于2026年5月12日9时至17时停水，请居民提前储水。恢复供水后请先放水五分钟再饮用。如有疑问请拨打供水热线，工作人员全天值守，为您解答。受影响的小区包括和平里、建设路一带以及河东新村，共计三千余户居民。</p>"),
    "验证码 help": page("<h1>收不到验证码怎么办</h1><p>请先确认手机号填写正确，并检查短信是否被拦截。验证码十分钟内有效，每天最多发送五次。若仍收不到，请拨打客服电话，由工作人员为您人工核验身份后办理。港澳台及海外号码需要在号码前加上国家或地区代码。更换手机号的用户，请携带身份证到营业厅办理变更手续，变更后二十四小时内生效。</p>"),
    "验证码 short help": page("<h1>验证码有效期</h1><p>短信验证码的有效期为十分钟，过期后请重新获取。</p>"),
    "安全检查 news": page("<h1>消防安全检查今日启动</h1><p>市消防支队今日对全市商场开展安全检查，共检查一百二十家，责令整改十七家。</p>"),
    "跳转 in a programming page": page("<h1>重定向与转发</h1><p>重定向会让浏览器自动跳转到新地址，状态码为302；转发则在服务器内部完成，地址栏不变。</p>"),
    "redirecting output": page("<h1>Redirecting output</h1><p>Use &gt; for redirecting standard output to a file and 2&gt; for standard error. The order matters: redirections are read from left to right.</p>"),
    "access denied in a manual": page("<h1>ORA-01031</h1><p>Access is denied when the user lacks the privilege. Grant it with <code>GRANT SELECT ON t TO u</code>, or ask the owner of the table to do so.</p>"),
    "unusual traffic in a security manual": page("<h1>Alert 4102</h1><p>Raised when a host sends unusual traffic, more than ten times its daily mean. Look at the flow log first; a backup that ran late is the usual cause.</p>"),
    "click here to continue in a tale": page("<h1>Chapter one</h1><p>The old gate stood open, and behind it the path led down to the river, where nobody had been for years. She counted the stones.</p><p><a href='2'>Click here to continue</a></p>"),
    "a very short page": page("<h1>Opening hours</h1><p>Monday to Friday, 8 to 16.</p>"),
    "a changelog entry": page("<h1>2.4.1</h1><ul><li>Fixed: the login form forgot the password field.</li><li>Added hCaptcha to the sign-up page.</li></ul>"),
    "a status page that reloads": page("<h1>All systems operational</h1><p>Updated every five minutes.</p>", head='<meta http-equiv="refresh" content="300">'),
    "a front page that reloads to itself": page("<h1>Headlines</h1><ul><li>Bridge closed</li><li>Pool opens</li></ul>", head='<meta http-equiv="refresh" content="600;url=/">'),
    "an app's page with a location in a script": page("<h1>Opening hours</h1><p>Monday to Friday from eight to four, Saturday from nine to noon, closed on Sundays.</p><script>if (location.hash) { location.href = '/x' }</script>"),
    "the Anubis project": page("<h1>Anubis</h1><p>Anubis weighs the soul of your connection. It is a proxy that makes browsers compute before they may see a page: “Making sure you're not a bot!”</p>" + LONG),
    "a WAF product page": page("<h1>AWS WAF</h1><p>AWS WAF protects web applications. With the CAPTCHA action, a client must solve a puzzle before the request goes on; with Challenge it runs silently. Prices start at five dollars a month for each web ACL, and one dollar for each rule. The first ten million common bot control requests of a month are free, then one dollar a million.</p>"),
    "an article that ends at a paywall": page(f"<h1>Bridge closed</h1>{CONTINUED}<p>Log in or subscribe to read on.</p>"),
    "a privacy chapter about consent walls": page("<h1>Accept all or pay</h1><p>“We and our partners store and access information on your device”, says the wall; “Accept all”, says the button.</p>" + LONG),
}  # fmt: skip


@pytest.mark.parametrize("name", WALLS)
def test_what_stands_in_front_of_a_page_is_recognised(name: str) -> None:
    html, kind = WALLS[name]
    assert kind_of(html) == kind


@pytest.mark.parametrize("name", HONEST)
def test_an_honest_page_is_not(name: str) -> None:
    assert kind_of(HONEST[name]) is None


# ------------------------------------------------------------ the same in a line or two

ARTICLE = "<p>" + "Captcha pages ask whether you are a robot; enable cookies, click to continue. " * 20 + "</p>"


@pytest.mark.parametrize(
    ("html", "kind"),
    [
        ('<meta http-equiv="refresh" content="0;url=/next"><p>Moved', "meta_refresh"),
        ("<title>Just a moment...</title><script>window._cf_chl_opt={}</script>", "bot_challenge"),
        ("<h1>Checking your browser before accessing example.com</h1>", "bot_challenge"),
        ("<html><script>var arg1='A1';document.cookie='acw_sc__v2='+x</script></html>", "bot_challenge"),
        ("<title>访问验证</title><p>请拖动滑块完成验证</p>", "bot_challenge"),
        ("<p>您的访问过于频繁，请稍后再试</p>", "bot_challenge"),
        ("<p>Please enable cookies to view this site.</p>", "cookie_wall"),
        ("<p>您的浏览器禁用了 Cookie</p>", "cookie_wall"),
        ("<p>If you are not redirected, <a href=x>click here to continue</a></p>", "continue_page"),
        ("<p>页面跳转中，请稍候</p>", "continue_page"),
        ('<script>window.location.href = "/real"</script>', "script_redirect"),
    ],
)
def test_a_wall_of_one_line_is_recognised(html: str, kind: str) -> None:
    assert kind_of(html) == kind


@pytest.mark.parametrize(
    "html",
    [
        ARTICLE,
        '<meta http-equiv="refresh" content="0;url=/mobile">' + ARTICLE,
        '<meta http-equiv="refresh" content="300">' + "<p>Headlines, reloaded every five minutes.</p>",
        "<p>A short but honest page.</p>",
        "<h1>验证</h1><p>这是一篇短文。</p>",
        ARTICLE + '<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>',
        "<p>A short page with eleven words or more, and a script.</p><script>location.href='x'</script>",
    ],
)
def test_a_page_of_a_line_or_two_is_not(html: str) -> None:
    assert kind_of(html) is None


def test_the_target_of_a_refresh_is_told() -> None:
    html = '<meta http-equiv="refresh" content="0;url=/next">'
    found = recognise(html, read_links(html, URL).refresh)
    assert found is not None
    assert found.target == "https://example.com/next"
