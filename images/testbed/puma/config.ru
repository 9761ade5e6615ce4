# A small shop on Rack with eight threads: what it asks, it asks its upstream on port 9999, without a time limit.
require 'socket'

STOCK = Mutex.new

def price_from_upstream
  socket = TCPSocket.new('127.0.0.1', 9999)
  socket.write("GET /price HTTP/1.1\r\nHost: prices\r\n\r\n")
  socket.readpartial(1000)
ensure
  socket&.close
end

def reserve
  STOCK.synchronize { price_from_upstream }
end

def sum_orders
  total = 0
  order = 0
  while order < 1_000_000_000_000
    total += order % 7
    order += 1
  end
  total.to_s
end

run(lambda do |env|
  text =
    case env['PATH_INFO']
    when '/shop', '/upstream' then price_from_upstream
    when '/lock' then reserve
    when '/busy' then sum_orders
    else 'ok'
    end
  [200, { 'Content-Type' => 'text/plain' }, [text]]
end)
