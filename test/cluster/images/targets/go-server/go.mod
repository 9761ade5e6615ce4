module kdebug/target

go 1.24
