"""Cities whose names the two languages write differently, a name and its translation a line.

China's municipalities and the capitals of its provinces and regions, the cities of its five largest
economies without such a rank, and the capitals and centres of trade that business travel goes to. Names of
places sound alike to an embedding model: Shanghai is nearer to 北京 than to 上海.
"""

from __future__ import annotations

PLACES = """
beijing, 北京
shanghai, 上海
tianjin, 天津
chongqing, 重庆
guangzhou, 广州
shenzhen, 深圳
hangzhou, 杭州
nanjing, 南京
suzhou, 苏州
wuhan, 武汉
chengdu, 成都
xi'an, xian, 西安
changsha, 长沙
zhengzhou, 郑州
jinan, 济南
qingdao, 青岛
ningbo, 宁波
wuxi, 无锡
hefei, 合肥
fuzhou, 福州
xiamen, 厦门
nanchang, 南昌
kunming, 昆明
guiyang, 贵阳
nanning, 南宁
haikou, 海口
shenyang, 沈阳
dalian, 大连
changchun, 长春
harbin, 哈尔滨
shijiazhuang, 石家庄
taiyuan, 太原
hohhot, 呼和浩特
lanzhou, 兰州
xining, 西宁
yinchuan, 银川
urumqi, 乌鲁木齐
lhasa, 拉萨
hong kong, 香港
macau, macao, 澳门
taipei, 台北
tokyo, 东京
osaka, 大阪
seoul, 首尔
singapore, 新加坡
bangkok, 曼谷
hanoi, 河内
jakarta, 雅加达
kuala lumpur, 吉隆坡
manila, 马尼拉
mumbai, 孟买
new delhi, 新德里
dubai, 迪拜
sydney, 悉尼
london, 伦敦
paris, 巴黎
berlin, 柏林
frankfurt, 法兰克福
munich, 慕尼黑
amsterdam, 阿姆斯特丹
brussels, 布鲁塞尔
zurich, 苏黎世
geneva, 日内瓦
vienna, 维也纳
rome, 罗马
milan, 米兰
madrid, 马德里
barcelona, 巴塞罗那
stockholm, 斯德哥尔摩
copenhagen, 哥本哈根
oslo, 奥斯陆
moscow, 莫斯科
new york, 纽约
washington, 华盛顿
boston, 波士顿
chicago, 芝加哥
los angeles, 洛杉矶
san francisco, 旧金山
seattle, 西雅图
toronto, 多伦多
"""
