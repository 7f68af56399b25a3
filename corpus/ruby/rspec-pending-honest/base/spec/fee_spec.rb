require_relative '../src/fee'

RSpec.describe 'fee' do
  it 'costs one percent' do
    expect(fee(5000)).to eq 50
  end

  it 'costs ten cents at least' do
    expect(fee(500)).to eq 10
  end
end
