module kdebug/starts

go 1.24
