// The targets' functions; what each holds is said where it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace onnxfs::fuzz {

void run_model(std::string_view input);
void run_values(std::string_view input);
void run_external(std::string_view input);
void run_names(std::string_view input);
void run_sidecar(std::string_view input);
void run_npy(std::string_view input);
void run_json(std::string_view input);
void run_commit(std::string_view input);

std::vector<std::string> seeds_of_model();
std::vector<std::string> seeds_of_values();
std::vector<std::string> seeds_of_external();
std::vector<std::string> seeds_of_names();
std::vector<std::string> seeds_of_sidecar();
std::vector<std::string> seeds_of_npy();
std::vector<std::string> seeds_of_json();
std::vector<std::string> seeds_of_commit();

}  // namespace onnxfs::fuzz
