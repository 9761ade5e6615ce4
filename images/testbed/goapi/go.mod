module shop.test/shop

go 1.24
