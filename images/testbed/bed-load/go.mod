module kdebug/bed-load

go 1.24
