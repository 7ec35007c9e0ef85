// SPDX-License-Identifier: Apache-2.0
#include "qemu.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr size_t kMaxSteps = 1000000;

// A file that is gone when its owner is.
class TempFile {
  public:
    explicit TempFile(const std::vector<uint8_t> &bytes)
    {
        const char *dir = std::getenv("TMPDIR");
        path_ = std::string(dir != nullptr ? dir : "/tmp") + "/bdy_mcu_image_XXXXXX";
        int fd = mkstemp(path_.data());
        if (fd < 0) {
            path_.clear();
            return;
        }
        good_ = write(fd, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
        close(fd);
    }
    ~TempFile()
    {
        if (!path_.empty()) {
            unlink(path_.c_str());
        }
    }
    TempFile(const TempFile &) = delete;
    TempFile &operator=(const TempFile &) = delete;

    bool good() const { return good_; }
    const std::string &path() const { return path_; }

  private:
    std::string path_;
    bool good_ = false;
};

// The log repeats, per instruction: " pc       80000000", CSRs, and eight lines of four registers
// like " x4/tp    00000000 x5/t0    00000000 ...", all before the instruction executes.
class LogParser {
  public:
    explicit LogParser(std::vector<ReferenceStep> &steps) : steps_(steps) {}

    void line(const char *text)
    {
        if (std::strncmp(text, " pc ", 4) == 0) {
            now_.pc = static_cast<uint32_t>(std::strtoul(text + 4, nullptr, 16));
        } else if (text[0] == ' ' && text[1] == 'x' && text[2] >= '0' && text[2] <= '9') {
            registers(text);
        }
    }

    bool trapped() const { return trapped_; }

  private:
    void registers(const char *text)
    {
        char *end = nullptr;
        unsigned long number = 0;

        while ((text = std::strchr(text, 'x')) != nullptr) {
            number = std::strtoul(text + 1, &end, 10);
            text = std::strchr(end, ' ');
            if (number > 31 || *end != '/' || text == nullptr) {
                return;
            }
            now_.x[number] = static_cast<uint32_t>(std::strtoul(text, &end, 16));
            text = end;
        }
        // The reset code of the board runs first, elsewhere; the image never leaves the RAM.
        if (number == 31 && now_.pc >= rv32::kRamBase) {
            steps_.push_back(now_);
        } else if (number == 31 && !steps_.empty()) {
            trapped_ = true;
        }
    }

    std::vector<ReferenceStep> &steps_;
    ReferenceStep now_ = {};
    bool trapped_ = false;
};

} // namespace

Reference run_qemu(const Image &image)
{
    Reference reference;
    TempFile file(image.flat());
    std::string command = "timeout 120 qemu-system-riscv32 -M virt -m 128M -bios none -display none"
                          " -monitor none -serial none -singlestep -d exec,cpu,nochain"
                          " -D /dev/stdout -device loader,addr=0x80000000,force-raw=on,file=";
    char line[256];

    if (!file.good()) {
        reference.error = "cannot write the image";
        return reference;
    }
    FILE *log = popen((command + file.path()).c_str(), "r");
    if (log == nullptr) {
        reference.error = "cannot start a shell";
        return reference;
    }
    LogParser parser(reference.steps);
    while (reference.steps.size() < kMaxSteps && !parser.trapped() &&
           std::fgets(line, sizeof(line), log) != nullptr) {
        parser.line(line);
    }
    int status = pclose(log);
    if (parser.trapped()) {
        reference.error = "the image trapped after " + std::to_string(reference.steps.size());
    } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        reference.error = "qemu-system-riscv32 is missing, failed or did not finish: status " +
                          std::to_string(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    } else if (reference.steps.empty()) {
        reference.error = "qemu's log holds no instruction of the image";
    }
    return reference;
}
