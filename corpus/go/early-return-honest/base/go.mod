module example.com/fee

go 1.19
