# For Homebrew: brew install --build-from-source ./scripts/release/homebrew/euryale.rb. The version and the checksum are those of a release.
class Euryale < Formula
  desc "Fits and posteriors with exact gradients for X-rays, stars and neural assemblies"
  homepage "https://github.com/euryale-dev/euryale"
  url "https://github.com/euryale-dev/euryale/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000" # of that archive
  license "Apache-2.0"
  head "https://github.com/euryale-dev/euryale.git", branch: "main"

  depends_on "go" => :build

  def install
    ENV["CGO_ENABLED"] = "0"
    system "go", "build", *std_go_args(ldflags: "-s -w"), "./cmd/euryale"
    system "go", "run", "./internal/manual", buildpath/"extra"
    man1.install Dir["extra/man/*"]
    bash_completion.install "extra/completions/euryale.bash" => "euryale"
    zsh_completion.install "extra/completions/_euryale"
    fish_completion.install "extra/completions/euryale.fish"
  end

  test do
    (testpath/"line.csv").write "x,y,dy\n0,1.1,0.2\n1,2.9,0.2\n2,5.2,0.2\n3,7.1,0.2\n"
    assert_match "agrees", shell_output("#{bin}/euryale fit curve line.csv 'a + b*x' 2>&1")
  end
end
