#include <string>
#include <vector>

#include "fs/arguments.h"
#include "fs/commands.h"
#include "fs/mount_options.h"

namespace onnxfs {

namespace {

struct Arguments {
  std::string model;
  std::string mount_point;
  std::vector<std::string> options;
  bool sloppy = false;
  bool fake = false;
};

int mount(const Arguments& arguments) {
  std::vector<std::string> words{"onnxfs"};
  for (const std::string& list : arguments.options) {
    words.insert(words.end(), {"-o", arguments.sloppy ? MountOptions::known(list) : list});
  }
  words.insert(words.end(), {"--", arguments.model, arguments.mount_point});
  std::vector<char*> values;
  for (std::string& word : words) values.push_back(word.data());
  return mount_command(static_cast<int>(values.size()), values.data());
}

}  // namespace

int mount_helper(int count, char** argument_values) {
  Arguments arguments;
  bool without_mtab = false, verbose = false;
  std::string type;
  CLI::App app("Mounts an ONNX model for mount(8): `mount -t fuse.onnxfs MODEL MNT`, /etc/fstab.", "mount.fuse.onnxfs");
  app.add_option("MODEL", arguments.model, "The model file (.onnx), a file of values (.pb), or a folder of them")
      ->required();
  app.add_option("MNT", arguments.mount_point, "The folder to mount it at")->required();
  app.add_option("-o", arguments.options, "Options as of `onnxfs mount -o`")
      ->option_text("OPTIONS")
      ->allow_extra_args(false);
  app.add_flag("-s", arguments.sloppy, "Leave out options that are not known, instead of refusing them");
  app.add_flag("-f", arguments.fake, "Check the options, and mount nothing");
  app.add_flag("-n", without_mtab, "Accepted: no /etc/mtab is written in any case");
  app.add_flag("-v", verbose, "Accepted: mount(8) is who speaks");
  app.add_option("-t", type, "Accepted: there is one type")->option_text("TYPE");
  if (const auto status = parse_arguments(app, count, argument_values)) return *status;
  if (!arguments.fake) return mount(arguments);
  if (!arguments.sloppy) MountOptions::parse(arguments.options);
  return 0;
}

}  // namespace onnxfs
